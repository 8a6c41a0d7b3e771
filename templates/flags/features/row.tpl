<tr id="flag-{{feature['name']}}">
<th scope="row">
<div class="flag">
% if can_edit:
<input type="checkbox" name="flag.{{feature['name']}}" aria-label="Select {{feature['name']}}" {{"checked" if "flag." + feature["name"] in selected else ""}}>
% end
% if feature["favorite"]:
<span title="Favorite" aria-label="Favorite" role="img">★</span>
% end
<a href="{{url(feature['path'])}}">{{feature["name"]}}</a>
</div>
<div class="details">
<span class="tag">{{feature["type"]}}</span>
% if feature["stale"]:
<span class="tag">stale</span>
% end
<a href="?{{feature['project_link']}}">{{feature["project"]}}</a>
% for tag in feature["tags"]:
<a class="tag" href="?{{tag['link']}}"><bdi>{{tag["text"]}}</bdi></a>
% end
% if feature["preview"]:
<span class="preview">{{feature["preview"]}}</span>
% end
</div>
</th>
<td class="created">
% include("partials/time.tpl", at=feature["created_at"])
</td>
<td class="evaluated">
% if feature["last_seen_at"]:
% include("partials/time.tpl", at=feature["last_seen_at"])
% else:
<span class="muted">Never</span>
% end
</td>
% for environment, cell in zip(environments, feature["cells"]):
<td data-in="{{environment}}">
% if cell is None:
<span class="muted" aria-label="not in this environment">–</span>
% elif feature["archived"]:
<span class="muted">archived</span>
% elif can_edit:
<button role="switch" aria-checked="{{'true' if cell['is_on'] else 'false'}}" aria-label="{{cell['label']}}" formaction="{{url(*cell['path'])}}">{{"on" if cell["is_on"] else "off"}}</button>
% else:
<strong>{{"on" if cell["is_on"] else "off"}}</strong>
% end
% if cell and not feature["archived"] and (cell["alert"] or cell["rollout"]):
<span class="why">
% if cell["alert"]:
<a href="{{url('/admin/projects', cell['alert']['project'], 'actions', cell['alert']['action_set_id'], 'runs', cell['alert']['id'])}}" title="{{cell["alert"]["alert"] or "an alert"}}">alert<span class="hidden"> of {{cell["label"]}}</span></a>,
% include("partials/time.tpl", at=cell["alert"]["created_at"])
% end
{{cell["rollout"]}}
</span>
% end
</td>
% end
</tr>
