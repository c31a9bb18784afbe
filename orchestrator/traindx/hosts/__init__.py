"""Agent hosts: the files that make this repository their plugin, and entering the server into those on a machine."""
