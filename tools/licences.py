"""Lists what is installed beside bbllm with its licence, in Markdown; `make licences`."""

import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

OWN = ('bbllm', 'bbllm_interfaces', 'franka_driver_conformance')
COMPAT = Path(__file__).resolve().parent.parent / 'compat'
SHORT = 60
"""Longest value of the field License that is a name, and no whole text."""
WHOLE = (
    ('Apache License', 'Apache-2.0'),
    ('MIT License', 'MIT'),
    ('Permission is hereby granted, free of charge', 'MIT'),
    ('Redistribution and use in source and binary forms', 'BSD'),
)
"""How texts of licences begin that stand in place of a name."""
HEAD = """# Third-party packages

Made by `make licences` from the metadata of what `make setup` and `make extras` install; versions
are in `requirements/`. NOTICE names what of others is in this repository.

| package | licence |
| --- | --- |"""


def licence_of(package: Distribution) -> str:
    """Return the licence that a package states; empty where it states none."""
    fields = package.metadata
    expression = fields.get('License-Expression')
    if expression:
        return str(expression)
    names = [
        line.rpartition(' :: ')[2]
        for line in fields.get_all('Classifier') or ()
        if line.startswith('License :: ') and not line.endswith(':: OSI Approved')
    ]
    if names:
        return ', '.join(names)
    text = ' '.join((fields.get('License') or '').split())
    if len(text) > SHORT:
        return next((name for begin, name in WHOLE if begin in text), '')
    return text or ros_licence(fields['Name'])


def ros_licence(name: str) -> str:
    """Return the licence in the manifest of a ROS package, which its metadata do not have."""
    package = re.sub('^ros[-_]', '', name).replace('-', '_')
    for folder in (Path(sys.prefix) / 'share', COMPAT):
        manifest = folder / package / 'package.xml'
        if manifest.exists():
            found = re.findall(r'<license[^>]*>\s*([^<]+?)\s*<', manifest.read_text())
            return ', '.join(found)
    return ''


def page() -> str:
    """Return the page, one row for each package."""
    rows = {
        package.metadata['Name'].lower().replace('_', '-'): licence_of(package)
        for package in distributions()
        if package.metadata['Name'] not in OWN
    }
    lines = (f'| {name} | {rows[name] or "not stated"} |' for name in sorted(rows))
    return '\n'.join([HEAD, *lines, ''])


if __name__ == '__main__':
    sys.stdout.write(page())
