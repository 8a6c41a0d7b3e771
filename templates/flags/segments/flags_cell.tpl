% if row["flags"]:
<ul class="names">
% for name, path in row["flags"]:
<li><a href="{{url(path)}}">{{name}}</a></li>
% end
% if row["used_in_features"] > len(row["flags"]):
<li class="muted">and {{row["used_in_features"] - len(row["flags"])}} more</li>
% end
</ul>
% else:
<span class="muted">–</span>
% end
