"""How is a sensor calibrated? Ellipsoids from noisy readings, with errors and a verdict.

To read in this order:

- `settings`: the numbers that decide results
- `quadric`: a quadric through noisy points, some of them wrong
- `ellipsoid`: the estimator `EllipsoidCalibration`
"""
