"""What passes between a report and a format: the document with its page one, the rows of data, and the options."""
