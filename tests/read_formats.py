#!/usr/bin/env python3
"""Reads one report in every format, each with a reader that is not ours, and compares the totals.

Usage: read_formats.py FOLDER, which holds report.json, BY.csv for every --by, waiter.folded,
holder.folded, waiter.pprof, holder.pprof and report.openmetrics. Prints the time waited, the waits
and the most frames of a stack; says what is wrong and exits 1.
"""
import csv
import decimal
import gzip
import json
import pathlib
import re
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from prometheus_client import parser as prometheus
from prometheus_client.openmetrics import parser as openmetrics

CSV_COLUMNS = ["process", "pid", "by", "family", "name", "key", "members", "acquired", "waits",
               "wait_ns_total", "wait_ns_max", "hold_ns_total", "hold_ns_max"]

# perftools.profiles.Profile as pprof publishes it: message, then field, number and type, "*" for
# repeated ones.
PROFILE = """
ValueType: type 1 int64, unit 2 int64
Label: key 1 int64, str 2 int64, num 3 int64, num_unit 4 int64
Sample: location_id 1 *uint64, value 2 *int64, label 3 *Label
Mapping: id 1 uint64, memory_start 2 uint64, memory_limit 3 uint64, file_offset 4 uint64,
	filename 5 int64, build_id 6 int64, has_functions 7 bool, has_filenames 8 bool,
	has_line_numbers 9 bool, has_inline_frames 10 bool
Line: function_id 1 uint64, line 2 int64
Location: id 1 uint64, mapping_id 2 uint64, address 3 uint64, line 4 *Line, is_folded 5 bool
Function: id 1 uint64, name 2 int64, system_name 3 int64, filename 4 int64, start_line 5 int64
Profile: sample_type 1 *ValueType, sample 2 *Sample, mapping 3 *Mapping, location 4 *Location,
	function 5 *Function, string_table 6 *string, drop_frames 7 int64, keep_frames 8 int64,
	time_nanos 9 int64, duration_nanos 10 int64, period_type 11 ValueType, period 12 int64,
	comment 13 *int64, default_sample_type 14 int64
"""


def check(condition, what):
    if not condition:
        sys.exit(f"read_formats: {what}")


def expect(what, wanted, found):
    check(wanted == found, f"{what}: wanted {wanted}, found {found}")


def profile_class():
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="p", syntax="proto3")
    for line in re.sub(r",\s+", ", ", PROFILE).strip().splitlines():
        name, fields = line.split(": ")
        message = file.message_type.add(name=name)
        for field in fields.split(", "):
            name, number, kind = field.split()
            added = message.field.add(name=name, number=int(number))
            added.label = added.LABEL_REPEATED if kind[0] == "*" else added.LABEL_OPTIONAL
            kind = kind.lstrip("*")
            if kind[0].isupper():
                added.type, added.type_name = added.TYPE_MESSAGE, ".p." + kind
            else:
                added.type = getattr(added, "TYPE_" + kind.upper())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName("p.Profile")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


def families(counters):
    return {name: counters[name] for name in counters if isinstance(counters[name], dict)}


def sum_families(counters):
    """Time waited and waits of all families; condition variables have no call sites."""
    wait_ns = sum(value for name, family in families(counters).items() if name != "cond"
                  for counter, value in family.items() if counter.endswith("wait_ns_total"))
    waits = sum(counters[family][counter] for family, counter in [
        ("mutex", "contended"), ("rwlock", "read_contended"), ("rwlock", "write_contended"),
        ("spinlock", "contended"), ("sem", "contended"), ("barrier", "waits"),
        ("once", "contended"), ("futex", "waits")]) - counters["futex"]["changed"]
    return wait_ns, waits


def sum_rows(rows):
    return sum(row["wait_ns_total"] for row in rows), sum(row["waits"] for row in rows)


def read_json(path):
    report = json.loads(path.read_text(encoding="utf-8"))
    totals = sum_families(report["totals"])
    for name, family in families(report["totals"]).items():
        for counter, value in family.items():
            if counter != "histogram":
                combine = max if counter.endswith("_max") else sum
                found = combine([thread[name][counter] for thread in report["threads"]] + [0])
                expect(f"threads' {name}.{counter}", value, found)
    lost = report["trust"]["lost_ns"], report["trust"]["lost_waits"]
    found = tuple(map(sum, zip(sum_rows(report["sites"]), lost)))
    expect("sites and what is lost", totals, found)
    stacks = {stack["id"] for stack in report["stacks"]}
    sites = {site["id"] for site in report["sites"]}
    for sample in report["samples"]:
        check(sample["stack"] in stacks and sample["site"] in sites, f"sample {sample}")
    for blame in report["blame"]:
        check(blame["site"] in sites, f"blame {blame}")
        if blame["holder"] is not None:
            check(set(blame["holder"]["stacks"]) <= stacks, f"holder {blame}")
    return report, totals


def read_csv(path, by):
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, strict=True)
        rows = list(reader)
    expect(f"{path.name}'s columns", CSV_COLUMNS, reader.fieldnames)
    for row in rows:
        check(None not in row and None not in row.values(), f"{path.name}: {row}")
        expect(f"{path.name}'s grouping", by, row["by"])
    check(path.read_bytes().endswith(b"\r\n"), f"{path.name} ends within a line")
    return tuple(sum(int(row[column]) for row in rows) for column in ("wait_ns_total", "waits"))


def read_folded(path):
    wait_ns, deepest = 0, 0
    for line in path.read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r"([^;]+(?:;[^;]+)+) (\d+)", line)
        check(match, f"{path.name}: {line}")
        wait_ns += int(match[2])
        deepest = max(deepest, match[1].count(";"))
    return wait_ns, deepest


def read_pprof(path):
    profile = profile_class()()
    profile.ParseFromString(gzip.decompress(path.read_bytes()))
    strings = profile.string_table
    expect(f"{path.name}'s first string", "", strings[0])
    check(len(strings) == len(set(strings)), f"{path.name} has strings twice")
    expect(f"{path.name}'s values", [("contentions", "count"), ("delay", "nanoseconds")],
           [(strings[kind.type], strings[kind.unit]) for kind in profile.sample_type])
    expect(f"{path.name}'s default", "delay", strings[profile.default_sample_type])
    expect(f"{path.name}'s period", ("contentions", "count", 1), (
        strings[profile.period_type.type], strings[profile.period_type.unit], profile.period))
    mappings = {mapping.id: mapping for mapping in profile.mapping}
    functions = {function.id: strings[function.name] for function in profile.function}
    locations = {location.id: location for location in profile.location}
    for table, ids in (profile.mapping, mappings), (profile.function, functions), (
            profile.location, locations):
        check(len(table) == len(ids) and 0 not in ids, f"{path.name}: ids {sorted(ids)}")
    for location in profile.location:
        check(location.mapping_id == 0 or location.mapping_id in mappings, f"mapping of {location}")
        check(location.line and all(functions[line.function_id] for line in location.line),
              f"function of {location}")
        mapping = mappings.get(location.mapping_id)
        check(mapping is None or mapping.memory_start <= location.address < mapping.memory_limit,
              f"address of {location}")
    for sample in profile.sample:
        check(sample.location_id and all(id in locations for id in sample.location_id),
              f"{path.name}: {sample}")
        check("type" in [strings[label.key] for label in sample.label], f"labels of {sample}")
    return tuple(sum(sample.value[at] for sample in profile.sample) for at in (1, 0))


def nanoseconds(samples):
    return sum(round(decimal.Decimal(sample.value) * 10**9) for sample in samples)


def metric_of(family, counter):
    name = re.sub("_ns_max$", "_max_seconds", re.sub("_ns_total$", "_seconds", counter))
    return f"abshim_{family}_{name}"


def check_counters(report, metrics):
    for family, counters in families(report["totals"]).items():
        for counter, value in counters.items():
            if counter == "histogram":
                continue
            metric = metrics.pop(metric_of(family, counter))
            samples = [sample for sample in metric.samples]
            if counter.endswith("_max"):
                samples = sorted(samples, key=lambda sample: sample.value)[-1:]
            found = (nanoseconds(samples) if metric.unit == "seconds"
                     else sum(int(sample.value) for sample in samples))
            # The reader's floating-point numbers keep 53 bits.
            check(abs(found - value) <= value >> 50, f"{metric.name}: wanted {value}, found {found}")


def read_openmetrics(path, report, totals):
    text = path.read_text(encoding="utf-8")
    metrics = {metric.name: metric for metric in openmetrics.text_string_to_metric_families(text)}
    list(prometheus.text_string_to_metric_families(text))
    for name, metric in metrics.items():
        check(name.startswith("abshim_") and metric.documentation, f"{path.name}: {name}")
        names = [(sample.name, tuple(sorted(sample.labels.items()))) for sample in metric.samples]
        check(len(names) == len(set(names)), f"{path.name}: {name} has samples twice")
        check(all(sample.labels["process"] for sample in metric.samples), f"labels of {name}")
    check_counters(report, metrics)
    for table in "lock", "site", "creation":
        waits = sum(int(sample.value) for sample in metrics[f"abshim_{table}_waits"].samples)
        wait_ns = nanoseconds(metrics[f"abshim_{table}_wait_seconds"].samples)
        expect(f"{path.name}'s waits by {table}", totals[1], waits)
        check(abs(wait_ns - totals[0]) <= totals[0] >> 50, f"{path.name}'s time by {table}")
    histogram = metrics["abshim_wait_duration_seconds"].samples
    count = sum(int(sample.value) for sample in histogram if sample.name.endswith("_count"))
    expect(f"{path.name}'s histogram", sum(lock["waits"] for lock in report["locks"]), count)


def main():
    folder = pathlib.Path(sys.argv[1])
    report, totals = read_json(folder / "report.json")
    for by in "lock", "site", "creation", "thread", "type":
        expect(f"{by}.csv", totals, read_csv(folder / f"{by}.csv", by))
    deepest = 0
    for whose in "waiter", "holder":
        wait_ns, depth = read_folded(folder / f"{whose}.folded")
        deepest = max(deepest, depth)
        expect(f"{whose}.folded", totals[0], wait_ns)
        expect(f"{whose}.pprof", totals, read_pprof(folder / f"{whose}.pprof"))
    read_openmetrics(folder / "report.openmetrics", report, totals)
    print(*totals, deepest)


main()
