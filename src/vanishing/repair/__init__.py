"""What should wrong or missing values be? Laws and noise say it, cell by cell.

To read in this order:

- `settings`: the numbers that decide results
- `system`: laws as equations in the columns of a table
- `prior`: where rows are, as far as no law says it
- `noise`: how noisy columns are, by how far rows are from laws
- `model`: the most likely rows by all of these
- `suspects`: which cells of a row are wrong
- `cells`: rows that are repaired, and what is said of each cell
- `independence`, `discovery`: laws that follow from others, and where laws come from
- `repair`: the estimator `VanishingRepair`
"""
