# SPDX-License-Identifier: GPL-2.0
"""Charts as SVG, readable on light and dark ground.

chart() draws lines. A series is a Series(name, colour, mark, points); a point
is (x, median, min, max). Colours are numbers of PALETTE, so that one subject
has one colour in all charts; marks tell series of one colour apart. Each line
is named at its end; there is no legend to look up.

draw_bars() draws two bars for each subject, the first as long as the scale.
"""
import collections
import math
from xml.sax.saxutils import escape

# Of a picture's licence, not of this file's.
TAG = 'SPDX-License-' 'Identifier'
Series = collections.namedtuple('Series', 'name colour mark points')

SIZE = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 74, 158, 64, 52
# A small chart, two of which stand side by side, has less room for names.
SMALL, SMALL_RIGHT = (480, 330), 118
LABEL_GAP = 15
# Of bars: where they begin and end, their height, and that of a subject.
BARS_LEFT, BARS_RIGHT, BAR, ROW = 132, 86, 15, 42
# (light, dark)
PALETTE = (('#1f6fc4', '#5aa2f0'), ('#b8480f', '#f0894a'),
           ('#57606a', '#9aa4af'), ('#ccd3da', '#3d444d'))
STYLE = '''
text { font: 12px system-ui, sans-serif; fill: #24292f; }
.title { font-size: 16px; font-weight: 600; }
.note { fill: #57606a; }
.strong { font-weight: 600; }
.small { font-size: 11px; }
.inside { fill: #ffffff; }
.whisker { stroke: #24292f; stroke-width: 1; }
.ground { fill: #ffffff; }
.grid { stroke: #d8dee4; stroke-width: 1; }
.axis { stroke: #8c959f; stroke-width: 1; }
.line { fill: none; stroke-width: 2; }
.bar { stroke-width: 1.5; opacity: 0.6; }
%s
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .note { fill: #9aa4af; }
  .inside { fill: #0d1117; }
  .whisker { stroke: #e6edf3; }
  .ground { fill: #0d1117; }
  .grid { stroke: #2d333b; }
  .axis { stroke: #6e7681; }
%s
}
'''


class Axis:
    """Maps values to pixels, linear from 0 or logarithmic."""

    def __init__(self, values, low, high, log, ticks=None):
        self.log, self.low, self.high = log, low, high
        if log:
            self.min, self.max = min(values), max(values)
            if ticks is None:
                self.min = 10 ** math.floor(math.log10(self.min))
                self.max = 10 ** math.ceil(math.log10(self.max))
        elif ticks:
            self.min, self.max = min(ticks), max(ticks)
        else:
            self.min, self.max = 0, self.round_up(max(values) * 1.05)
        self.ticks = ticks or self.make_ticks()

    @staticmethod
    def round_up(value):
        unit = 10 ** math.floor(math.log10(value))
        return next(m * unit for m in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
                    if m * unit >= value)

    def make_ticks(self):
        if not self.log:
            return [self.max * i / 5 for i in range(6)]
        n = round(math.log10(self.max / self.min))
        return [self.min * 10 ** i for i in range(n + 1)]

    def at(self, value):
        if self.log:
            part = math.log(value / self.min) / math.log(self.max / self.min)
        else:
            part = (value - self.min) / (self.max - self.min)
        return self.low + part * (self.high - self.low)


class Steps(Axis):
    """Maps a few values to places at equal distances."""

    def __init__(self, ticks, low, high):
        self.ticks, self.low, self.high = ticks, low, high

    def at(self, value):
        part = (self.ticks.index(value) + 0.5) / len(self.ticks)
        return self.low + part * (self.high - self.low)


def style():
    def rules(dark):
        return '\n'.join(
            '.stroke%d { stroke: %s; } .fill%d { fill: %s; }' %
            (i, c[dark], i, c[dark]) for i, c in enumerate(PALETTE))
    return STYLE % (rules(0), rules(1))


def text(x, y, words, anchor='start', kind=''):
    return ('<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>' %
            (x, y, anchor, kind, escape(words)))


def line(x1, y1, x2, y2, kind):
    return ('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>' %
            (x1, y1, x2, y2, kind))


def mark(x, y, kind, colour):
    fill = 'fill%d' % colour
    if kind == 'circle':
        return '<circle cx="%.1f" cy="%.1f" r="4" class="%s"/>' % (x, y, fill)
    if kind == 'square':
        return ('<rect x="%.1f" y="%.1f" width="7" height="7" class="%s"/>' %
                (x - 3.5, y - 3.5, fill))
    if kind == 'triangle':
        return ('<path d="M%.1f %.1fl4.5 8h-9z" class="%s"/>' %
                (x, y - 5, fill))
    return ''


def draw_series(series, x, y):
    out = []
    points = [(x.at(p[0]), y.at(p[1]), y.at(p[2]), y.at(p[3]))
              for p in series.points]
    out.append('<polyline class="line stroke%d"%s points="%s"/>' % (
        series.colour, '' if series.mark else ' stroke-dasharray="6 4"',
        ' '.join('%.1f,%.1f' % p[:2] for p in points)))
    for px, py, low, high in points:
        if series.mark:
            out.append(line(px, low, px, high, 'bar stroke%d' % series.colour))
        out.append(mark(px, py, series.mark, series.colour))
    return out


def draw_labels(all_series, x, y):
    """
    Names at the lines' ends, moved apart where they would overlap. Those of
    lines that end early are below the end, as others go on to the right.
    """
    ends = sorted((y.at(s.points[-1][1]), s) for s in all_series)
    out, last = [], -math.inf
    for at, series in ends:
        end = series.points[-1]
        if end[0] != x.ticks[-1]:
            out.append(text(x.at(end[0]), y.at(end[2]) + 16, series.name,
                            'middle', 'fill%d' % series.colour))
            continue
        at = max(at, last + LABEL_GAP)
        last = at
        out.append(text(x.at(end[0]) + 12, at + 4, series.name,
                        kind='fill%d' % series.colour))
    return out


def frame(size, title, note, body):
    """The whole file: title and note above what is drawn."""
    return '\n'.join([
        '<!-- %s: GPL-2.0 -->' % TAG,
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
        'width="%d" height="%d" role="img">' % (size + size),
        '<title>%s</title>' % escape(title),
        '<style>%s</style>' % style(),
        '<rect width="100%" height="100%" class="ground"/>',
        text(16, 26, title, kind='title'), text(16, 46, note, kind='note')] +
        body + ['</svg>', ''])


def draw_axes(x, y, labels, x_name, right, height):
    """labels: (of x, of y); x_name: makes a tick's text of an x."""
    out = []
    for tick in y.ticks:
        out.append(line(LEFT, y.at(tick), right, y.at(tick), 'grid'))
        out.append(text(LEFT - 8, y.at(tick) + 4, format(tick, ',.10g'),
                        'end'))
    for tick in x.ticks:
        out.append(text(x.at(tick), height - BOTTOM + 18, x_name(tick),
                        'middle'))
    out.append(line(LEFT, height - BOTTOM, right, height - BOTTOM, 'axis'))
    out.append(text((LEFT + right) / 2, height - 12, labels[0], 'middle',
                    'note'))
    out.append('<g transform="translate(18 %.1f) rotate(-90)">%s</g>' %
               ((TOP + height - BOTTOM) / 2,
                text(0, 0, labels[1], 'middle', 'note')))
    return out


def draw_chart(title, note, labels, all_series, x_ticks, x_name, y_log=False,
               y_ticks=None, size=SIZE):
    """y_ticks: instead of those that fit the values."""
    right = size[0] - (SMALL_RIGHT if size == SMALL else RIGHT)
    height = size[1]
    values = [v for s in all_series for p in s.points for v in p[1:]]
    if len(x_ticks) > 4:
        x = Axis(x_ticks, LEFT + 10, right - 10, True, x_ticks)
    else:
        x = Steps(x_ticks, LEFT, right)
    y = Axis(values, height - BOTTOM, TOP, y_log, y_ticks)
    out = draw_axes(x, y, labels, x_name, right, height)
    for series in all_series:
        out += draw_series(series, x, y)
    return frame(size, title, note, out + draw_labels(all_series, x, y))


def chart(path, *args, **kwargs):
    with open(path, 'w') as f:
        f.write(draw_chart(*args, **kwargs))


def draw_legend(names, y):
    """Of bars: what each colour stands for."""
    out, x = [], BARS_LEFT
    for name, colour in names:
        out.append('<rect x="%d" y="%d" width="12" height="12" '
                   'class="fill%d"/>' % (x, y - 10, colour))
        out.append(text(x + 18, y, name))
        x += 44 + 7 * len(name)
    return out


def draw_bar(x, y, colour, label, values, kind=''):
    """values: median, minimum and maximum; kind: of the label."""
    middle, low, high = map(x.at, values)
    out = ['<rect x="%.1f" y="%.1f" width="%.1f" height="%d" class="fill%d"/>' %
           (x.low, y, middle - x.low, BAR, colour)]
    if high - low > 2:
        out.append(line(low, y + BAR / 2, high, y + BAR / 2, 'whisker'))
    return out + [text(low - 6, y + BAR - 4, label, 'end', 'small ' + kind)]


def draw_bars(title, note, labels, names, rows):
    """
    labels: (of the scale, of what the rows say); names: two (name, colour), of the
    bar that is the scale and of the other one; rows: (subject, what the first bar
    is, what the second is, its length in per cent of the first: median, min, max,
    what the row says).
    """
    top = TOP + 30
    bottom = top + ROW * len(rows)
    width, height = SIZE[0], bottom + BOTTOM
    x = Axis((), BARS_LEFT, width - BARS_RIGHT, False, (0, 25, 50, 75, 100))
    out = draw_legend(names, TOP + 10)
    out.append(text(width - 16, TOP + 10, labels[1], 'end', 'note'))
    for tick in x.ticks:
        out.append(line(x.at(tick), top - 8, x.at(tick), bottom,
                        'grid' if tick else 'axis'))
        out.append(text(x.at(tick), bottom + 18, '%d %%' % tick, 'middle'))
    out.append(text((x.low + x.high) / 2, bottom + 40, labels[0], 'middle',
                    'note'))
    for i, (subject, first, second, values, says) in enumerate(rows):
        y = top + ROW * i
        out.append(text(BARS_LEFT - 10, y + BAR + 5, subject, 'end'))
        out += draw_bar(x, y, names[0][1], first, (100,) * 3)
        out += draw_bar(x, y + BAR + 1, names[1][1], second, values, 'inside')
        out.append(text(width - 16, y + BAR + 5, says, 'end', 'strong'))
    return frame((width, height), title, note, out)
