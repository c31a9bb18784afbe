"""`traindx watch`: the files of a running job are followed, and findings are told once they are certain."""
