"""Speed and memory, in the form of asv: `time_`, `peakmem_` and `track_` methods of classes.

Parameters go from cheap to dear: a test runs the first case of each class. What a case needs and
is not there, it says by NotImplementedError in its `setup`, which skips it. Files are written into
the current folder, which whoever runs a case empties afterwards.
"""
