"""A flame graph as SVG, from the text of `perf script -F comm,tid,ip,sym` on standard input.

The width of a box is its share of the samples, its children stand on it. Symbols are shortened to their last two parts.
Usage: perf script -F comm,tid,ip,sym --no-inline | python3 flame_graph.py "Title" > graph.svg
"""

import re
import sys
from collections import defaultdict
from html import escape

WIDTH, ROW, LEAST = 1200, 16, 0.003


def samples(lines):
    """Stacks, outermost first, each below the name of its thread."""
    stack, thread = [], None
    for line in lines:
        if not line.strip():
            if thread is not None:
                yield [thread, *reversed(stack)]
            stack, thread = [], None
        elif line[0].isspace():
            symbol = line.split(None, 1)[1].strip() if len(line.split(None, 1)) > 1 else "[unknown]"
            if symbol != "[unknown]":
                stack.append(short(symbol))
        else:
            thread = line.split()[0]
    if thread is not None:
        yield [thread, *reversed(stack)]


def short(symbol):
    while (plain := re.sub(r"<[^<>]*>", "", symbol)) != symbol and plain.strip(":"):
        symbol = plain
    symbol = symbol.replace("::{{closure}}", "").strip(":")
    return "::".join([part for part in symbol.split("::") if part][-2:])


class Node:
    def __init__(self):
        self.count, self.children = 0, defaultdict(Node)


def tree(stacks):
    root = Node()
    for stack in stacks:
        node = root
        node.count += 1
        last = None
        for name in stack:
            # A future that polls itself is one box.
            if name != last:
                node = node.children[name]
                node.count += 1
            last = name
    return root


def boxes(node, name, left, depth, total):
    if node.count / total < LEAST:
        return
    yield name, left, depth, node.count
    for child, below in sorted(node.children.items()):
        yield from boxes(below, child, left, depth + 1, total)
        left += below.count


def svg(root, title):
    total = max(root.count, 1)
    all_boxes = list(boxes(root, "all", 0, 0, total))
    height = (max((depth for _, _, depth, _ in all_boxes), default=0) + 1) * ROW + 40
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="monospace" font-size="11">'
    yield f'<text x="4" y="16" font-size="14">{escape(title)} ({total} samples)</text>'
    for name, left, depth, count in all_boxes:
        x, width = left / total * WIDTH, count / total * WIDTH
        y = height - (depth + 1) * ROW - 4
        hue = 20 + sum(map(ord, name)) % 35
        share = f"{100 * count / total:.1f} %"
        yield f'<g><title>{escape(name)}: {share}</title>'
        yield f'<rect x="{x:.1f}" y="{y}" width="{max(width - 0.5, 0.5):.1f}" height="{ROW - 1}" fill="hsl({hue},80%,70%)"/>'
        room = int(width / 6.7)
        if room > 3:
            yield f'<text x="{x + 2:.1f}" y="{y + 11}">{escape(name[:room])}</text>'
        yield "</g>"
    yield "</svg>"


if __name__ == "__main__":
    print("\n".join(svg(tree(samples(sys.stdin)), sys.argv[1] if len(sys.argv) > 1 else "Flame graph")))
