% include("partials/sparkline.tpl", bars=row["bars"], marks=row["marks"], label=row["chart_label"])
{{number(row["total"])}}
