"""The program of a run, followed from its entry point without being run: what it builds, and in which order it acts.

`machine` steps through the syntax trees with abstract values (`values`), twice through every loop, and writes down what
a training program does (`trace`). `library` knows what the calls of torch, Lightning, Keras and others mean. `rules`
read the trace.
"""
