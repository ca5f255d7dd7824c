# SPDX-License-Identifier: Apache-2.0
"""
Checks a JSON value against a JSON Schema, so that tests of formats need no package. It implements the
keywords of the project's schemas and refuses any other, because a rule that is not implemented must not
seem satisfied.
"""
import json
import re

IGNORED = {"$schema", "title", "description", "default", "$defs", "definitions"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float),
         "integer": int, "null": type(None)}


def has_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


class Schema:
    """errors(value) lists all violations, each with its place."""

    def __init__(self, path=None, text=None):
        self.root = json.loads(text if text is not None else path.read_text(encoding="utf-8"))
        self.words = {
            "$ref": self.ref, "allOf": self.all_of, "anyOf": self.any_of, "oneOf": self.one_of,
            "type": self.type, "enum": self.enum,
            "const": self.const, "pattern": self.pattern, "minLength": self.min_length,
            "minimum": self.minimum, "maximum": self.maximum,
            "exclusiveMinimum": self.above, "items": self.items, "minItems": self.min_items,
            "maxItems": self.max_items,
            "required": self.required, "properties": self.properties,
            "additionalProperties": self.additional,
        }

    def errors(self, value, rule=None, path="$"):
        rule = self.root if rule is None else rule
        if isinstance(rule, bool):
            return [] if rule else [f"{path}: not allowed"]
        found = []
        for word, wanted in rule.items():
            if word in self.words:
                found += self.words[word](value, wanted, path, rule)
            elif word not in IGNORED:
                raise ValueError(f"the schema uses '{word}', which this judge does not know")
        return found

    def resolve(self, reference):
        target = self.root
        for part in reference.split("/")[1:]:
            target = target[part]
        return target

    def ref(self, value, wanted, path, _):
        return self.errors(value, self.resolve(wanted), path)

    def all_of(self, value, wanted, path, _):
        return [e for rule in wanted for e in self.errors(value, rule, path)]

    def any_of(self, value, wanted, path, _):
        return ([] if any(not self.errors(value, rule, path) for rule in wanted)
                else [f"{path}: fits none of anyOf"])

    def one_of(self, value, wanted, path, _):
        fitting = sum(not self.errors(value, rule, path) for rule in wanted)
        return [] if fitting == 1 else [f"{path}: fits {fitting} of oneOf"]

    def type(self, value, wanted, path, _):
        names = [wanted] if isinstance(wanted, str) else wanted
        return ([] if any(has_type(value, name) for name in names)
                else [f"{path}: {value!r} is no {' or '.join(names)}"])

    def enum(self, value, wanted, path, _):
        return [] if value in wanted else [f"{path}: {value!r} is not in {wanted}"]

    def const(self, value, wanted, path, _):
        return [] if value == wanted else [f"{path}: {value!r} is not {wanted!r}"]

    def pattern(self, value, wanted, path, _):
        wrong = isinstance(value, str) and not re.search(wanted, value)
        return [f"{path}: {value!r} does not match {wanted}"] if wrong else []

    def min_length(self, value, wanted, path, _):
        return ([f"{path}: shorter than {wanted}"] if isinstance(value, str) and len(value) < wanted
                else [])

    def minimum(self, value, wanted, path, _):
        return ([f"{path}: {value} is below {wanted}"] if has_type(value, "number") and value < wanted
                else [])

    def maximum(self, value, wanted, path, _):
        return ([f"{path}: {value} is above {wanted}"] if has_type(value, "number") and value > wanted
                else [])

    def above(self, value, wanted, path, _):
        return ([f"{path}: {value} is not above {wanted}"]
                if has_type(value, "number") and value <= wanted else [])

    def items(self, value, wanted, path, _):
        if not isinstance(value, list):
            return []
        return [e for number, item in enumerate(value)
                for e in self.errors(item, wanted, f"{path}[{number}]")]

    def min_items(self, value, wanted, path, _):
        return ([f"{path}: fewer than {wanted}"] if isinstance(value, list) and len(value) < wanted
                else [])

    def max_items(self, value, wanted, path, _):
        return [f"{path}: more than {wanted}"] if isinstance(value, list) and len(value) > wanted else []

    def required(self, value, wanted, path, _):
        return ([f"{path}.{name}: missing" for name in wanted if name not in value]
                if isinstance(value, dict) else [])

    def properties(self, value, wanted, path, _):
        if not isinstance(value, dict):
            return []
        return [e for name, rule in wanted.items() if name in value
                for e in self.errors(value[name], rule, f"{path}.{name}")]

    def additional(self, value, wanted, path, rule):
        if not isinstance(value, dict):
            return []
        return [e for name, item in value.items() if name not in rule.get("properties", {})
                for e in (self.errors(item, wanted, f"{path}.{name}") if wanted is not False
                          else [f"{path}.{name}: unknown"])]
