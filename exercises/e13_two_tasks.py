"""Settings for two tasks.

Six settings of another model, measured on many stories: the share of true ones with its standard error, and the
diversity.

    a    greedy                  1.00 ± 0.01    0.06
    b    τ = 0.5                 0.96 ± 0.01    0.45
    c    τ = 0.75                0.91 ± 0.02    0.52
    d    τ = 1, top-p = 0.95     0.86 ± 0.03    0.57
    e    τ = 1                   0.72 ± 0.03    0.58
    f    τ = 1.5, top-p = 0.9    0.55 ± 0.04    0.57

**Task 1**: a machine prints a bedtime story that nobody reads beforehand. Of the settings whose true share minus two
standard errors is at least 0.85, take the most varied one. **Task 2**: a writer gets four drafts and keeps a true one.
Of the settings that give at least one true draft among four with a probability of 0.99 or more (reckoned with the
measured share), take the most varied one. Give both letters with the number that defends them. One of the six is beaten
by another: at least as good in both columns, and better in one. Which is it? (Tolerance 0.005.)
"""

objective = "Choose settings for a task and defend them by measured numbers"
difficulty = 3
minutes = 12
hints = (
    "Task 1: subtract twice the error from each share and strike out what falls below 0.85.",
    "Task 2: four drafts all fail with (1 - share) ** 4.",
    "A setting is beaten if a single other line is at least as good in both columns. Look for equal diversities.",
)

two_tasks: dict[str, str | float] = {
    "task 1": ...,
    "its share minus two errors": ...,
    "task 2": ...,
    "its chance of a true draft": ...,
    "the beaten one": ...,
}
