% if not table.rows:
<p class="empty">{{table.empty}}</p>
% else:
<table class="list" id="{{table.id}}{{"-table" if table.title else ""}}">
<thead>
<tr>
% for label in table.labels:
<th scope="col">{{label}}</th>
% end
% if table.has_links:
<th><span class="hidden">More</span></th>
% end
</tr>
</thead>
<tbody>
% for item in table.rows:
<tr>
% for index, (label, cell) in enumerate(zip(table.labels, item.cells)):
<{{"td" if index else "th scope=row"}} data-label="{{label}}">
% if cell.path:
<a href="{{url(cell.path)}}" title="{{cell.title or cell.text}}"><bdi>{{cell.text}}</bdi>\\
% if index:
<span class="hidden"> {{label.lower()}}: {{item.name}}</span>\\
% end
</a>
% elif cell.text:
<bdi title="{{cell.text}}">{{cell.text}}</bdi>
% end
% for badge in cell.badges:
<span class="tag">{{badge}}</span>
% end
% if cell.state:
<span class="tag {{cell.state[1]}}">{{cell.state[0]}}</span>
% end
% if cell.at:
% include("partials/time.tpl", at=cell.at, time_form=cell.time_form)
% end
% if cell.hint:
<span class="muted" title="{{cell.hint}}"><bdi>{{cell.hint}}</bdi></span>
% end
% if cell.template:
% include(cell.template, row=item.row)
% elif not (cell.text or cell.at or cell.badges or cell.state or cell.hint):
<span class="muted">{{cell.missing}}</span>
% end
</{{"td" if index else "th"}}>
% end
% if table.has_links:
<td>
% if item.links:
<details class="menu">
<summary aria-label="More for {{item.name}}" title="More"><span aria-hidden="true">⋯</span></summary>
<p>
% for label, path in item.links:
<a href="{{url(path)}}">{{label}}<span class="hidden"> {{item.name}}</span></a>
% end
</p>
</details>
% end
</td>
% end
</tr>
% end
</tbody>
</table>
% end
