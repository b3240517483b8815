"""Local estimates on subsets and global statistics."""
