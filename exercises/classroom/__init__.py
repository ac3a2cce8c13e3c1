"""Teaching a class: what the course measures, the editions handed out, the submissions graded.

For instructors; the student edition goes out without it. It imports the engine (`exercises.grader`), never the other
way round. Each file imports only from files before it in its column, or to the left:

    the course              one submission             many of them
    rubric     objectives   sources   files, zips      run        one by one, in processes
    syllabus   the page     collect   whose, answers   dask_run   on a cluster
    harness    calls        identity  equal code       store      rows on disk
    pack       stored page  launcher  forks answers    formats    CSV, JSON, JUnit, ...
    page       HTML         place     talks to it      summary    a class in numbers
                            marks     points           student_report, class_report
                            mark      a row            grade      all of it
                                                       release    editions
                                                       commands   python -m exercises
"""
