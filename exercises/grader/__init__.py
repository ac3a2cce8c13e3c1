"""The engine: it runs answers apart from the grader, compares them, finds the mistake, and words the report.

solutions/vocabulary says what is right (inputs, comparison, shrinking) and knows nothing of students; this
package may import it, never the other way round. From the answer to the card:

    catalog    exercises by their files          judge      an answer -> a verdict
    answers    a cell's object or a file's text  diagnose   which known mistake it is
    isolate    where the answer runs: fork, or   verdict    the result as data
               a thread where there is no fork   wording    the result in words
    sandbox    one call, watched                 card       text and HTML with the same words
    state      global state, kept and restored   progress   what is remembered
    codec      plain values as JSON              api        check, hint, solution, progress
"""
