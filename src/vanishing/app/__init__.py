"""The app: a page on this machine that takes a table and a question, and shows the answer.

The page's process (`server`, `guard`, `sessions`, `uploads`) knows no table and no estimator: it
hands tasks to a process that computes (`process`, `worker`, `tasks`), one at a time.
"""
