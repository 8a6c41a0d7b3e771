"""Icons of the pages: the content of an SVG of 20 by 20 units, drawn with strokes."""

ICONS = {
    "flag": '<path d="M5 17.5v-15m0 1h9.5l-2 3.5 2 3.5H5"/>',
    "signal": '<path d="M4 14a8.5 8.5 0 0 1 0-8m12 0a8.5 8.5 0 0 1 0 8M6.8 12.4a5 5 0 0 1 0-4.8'
    'm6.4 0a5 5 0 0 1 0 4.8"/><circle cx="10" cy="10" r="1"/>',
    "action": '<path d="M11 2 4.5 11.5H10L9 18l6.5-9.5H10z"/>',
    "chart": '<path d="M3 17h14M5.5 14V9m4.5 5V4m4.5 10V7"/>',
    "settings": '<path d="M3 6h8m4 0h2M3 14h2m4 0h8"/><circle cx="13" cy="6" r="2"/>'
    '<circle cx="7" cy="14" r="2"/>',
    "search": '<circle cx="9" cy="9" r="5.5"/><path d="m13 13 4 4"/>',
    "check": '<path d="m4 10.5 4 4 8-9"/>',
    "circle": '<circle cx="10" cy="10" r="6.5"/>',
    "alert": '<path d="M10 3 2 16.5h16zM10 8v4m0 2v.5"/>',
}
