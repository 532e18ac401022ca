"""Reads JUnit's XML as others do: by the schema of Jenkins, and by junitparser. Says suite, counts and how each case ends."""

import sys

import junitparser
import xmlschema

schema, path = sys.argv[1:]
xmlschema.XMLSchema(schema).validate(path)
for suite in junitparser.JUnitXml.fromfile(path):
    print(suite.name, suite.tests, suite.failures, suite.errors, suite.skipped, sep="|")
    for case in suite:
        print(case.classname, case.name, *[type(end).__name__ for end in case.result], sep="|")
