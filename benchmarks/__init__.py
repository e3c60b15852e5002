"""Speed and memory, in the form of asv: `time_`, `peakmem_` and `track_` methods of classes.

Parameters go from cheap to dear: a test runs the first case of each class. `setup` calls what is
compiled once, and skips a case by NotImplementedError where something that it needs is not there.
Files are written into the current folder, which whoever runs a case empties afterwards.
"""
