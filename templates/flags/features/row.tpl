<tr id="flag-{{feature['name']}}">
<th scope="row"><div>
% if can_edit:
<input type="checkbox" name="flag.{{feature['name']}}" aria-label="Select {{feature['name']}}" {{"checked" if "flag." + feature["name"] in entry_form else ""}}>
% end
<a href="{{url(feature['path'])}}" title="{{feature["name"]}}">{{feature["name"]}}</a>
% if feature["favorite"]:
<span title="Favorite" aria-label="Favorite" role="img">★</span>
% end
</div></th>
% if is_removal:
<td class="reason">{{feature["removal"].reason}}</td>
<td>keep: {{feature["removal"].keep}}</td>
<td>
% include("flags/features/task.tpl", name=feature["name"], task=feature["removal"].task)
% if can_edit:
<button class="quiet" formaction="{{url(feature['path'], 'permanent')}}" aria-label="Mark {{feature['name']}} permanent">Mark permanent</button>
% end
</td>
% else:
% for environment, cell in zip(environments, feature["cells"]):
<td data-in="{{environment}}" {{"class=first" if cell is feature["first"] else ""}}>
% if cell is None:
<span class="muted" aria-label="not in this environment">–</span>
% elif feature["archived"]:
<span class="tag off">archived</span>
% elif can_edit:
<button role="switch" class="tag {{cell['state']}}" aria-checked="{{'true' if cell['is_on'] else 'false'}}" aria-label="{{cell['label']}}" title="{{cell["title"]}}" formaction="{{url(*cell['path'])}}">{{cell["text"]}}</button>
% else:
<span class="tag {{cell['state']}}" title="{{cell["title"]}}">{{cell["text"]}}</span>
% end
% if cell and cell is feature["first"] and feature["more"]:
<span class="more">· {{feature["more"]}} more</span>
% end
</td>
% end
<td>
% if feature["last_seen_at"]:
% include("partials/time.tpl", at=feature["last_seen_at"])
% else:
<span class="muted">never</span>
% end
</td>
<td title="{{feature["project_name"]}}">{{feature["project_name"]}}</td>
% tags = feature["tag_texts"]
<td title="{{", ".join(tags)}}"><bdi>{{tags[0] if tags else ""}}</bdi>{{feature["more_tags"]}}</td>
% for column in columns:
<td>\\
% if column == "created":
% include("partials/time.tpl", at=feature["created_at"])
% else:
{{feature["owner"] if column == "owner" else feature["type"] if column == "type" else "stale" if feature["stale"] else ""}}\\
% end
</td>
% end
% end
</tr>
