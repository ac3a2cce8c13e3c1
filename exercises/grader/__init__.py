"""The engine: it runs answers apart from the grader, compares them, finds the mistake, and words the report.

solutions/vocabulary says what is right (inputs, comparison, shrinking) and knows nothing of students; this package
may import it, never the other way round. Each file imports only from files before it in its column, or to the left:

    running an answer               judging it                      around it
    state      global state, kept   verdict   the result as data    progress  what is remembered
    codec      plain values, JSON   diagnose  which known mistake   api       check, hint, solution, progress
    sandbox    one call, watched    advice    errors in words       commands  python -m exercises
    isolate    process or thread    relations of wrong numbers      mutate    small faults in a reference
    fork       the process          shapes    and dtypes            audit     judging the judge, the table
    stored     a page without code  slips     anybody's, in code
    catalog    exercises by files   forms     anybody's, in values
    answers    a cell's or a file's judge     answer -> verdict
    excerpt    what a name needs    card      text and HTML
    stubs      source of pages      wording   a verdict in words
"""
