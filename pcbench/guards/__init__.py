"""What the guards of a compiled function are, and what they cost: counted, timed, and told apart.

Everything starts with a :class:`pcbench.guards.subjects.Subject`: a function compiled here, with the guards that Dynamo
made for it.
"""
