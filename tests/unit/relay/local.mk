# Programs of this folder.
