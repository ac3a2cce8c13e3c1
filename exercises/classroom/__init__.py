"""Teaching a class: what the course measures, the editions handed out, the submissions graded.

For instructors; the student edition goes out without it. It imports the engine (`exercises.grader`), never the other
way round.
"""
