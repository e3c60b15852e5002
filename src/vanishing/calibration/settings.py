"""The numbers that decide results: what each trades."""

KEPT = 0.7  # share of rows that the first fits keep: more rows may be wrong the lower it is
STARTS = 40  # of few rows each, so that some have no wrong row
START_STEPS, LAST_STEPS = 3, 30  # of trimming, from each start and from the best ones
BEST = 4  # starts that are followed to the end
FAR = 4.0  # standard deviations of the noise, beyond which a row is wrong: .006 % of right ones
FITS = 10  # with rows that are not wrong, until these settle
# Standard error of the centre over the radius, or of an entry of the matrix, beyond which readings
# do not determine an ellipsoid.
UNSURE = 0.15
