"""Local estimates on subsets and global statistics.

For those who edit kernels: numba's cache on disk looks at the time of the file that defines a function, not of those that it calls. After changing a
kernel that another file calls, delete the `*.nbi` and `*.nbc` files beside it.
"""
