% rebase("layout.tpl", title=title, live=False)
<h1>Playground</h1>
<p class="hint">See how flags evaluate for a given context. The URL is shareable.</p>
% include("partials/problems.tpl")
<form method="get" action="{{url('/admin/playground')}}#result" role="search">
<div class="fields">
% include("partials/form_fields.tpl")
</div>
% include("partials/form_field.tpl", field=properties)
<button>Evaluate</button>
</form>
% if flags is not None:
<section id="result">
<h2>{{plural(total, "flag")}} in {{values["environment"]}}</h2>
% if not flags:
<p class="empty">No matching flags.</p>
% else:
% if total > len(flags):
<p class="hint">Only the first {{len(flags)}} flags. Select a project or enter part of the name.</p>
% end
<ol class="log">
% for flag in flags:
<li>
<details id="flag-{{flag.name}}" {{"open" if total == 1 or flag.name == values["flag"] else ""}}>
<summary>
<strong><bdi>{{flag.name}}</bdi></strong>
<strong class="tag {{"gets" if flag.state == "on" else "off"}}">{{flag.state}}</strong>
% if flag.variant:
<span class="tag">variant <bdi>{{flag.variant}}</bdi></span>
% end
<span class="muted">{{flag.project}}</span>
</summary>
% include("flags/playground/reasons.tpl", flag=flag)
<p><a href="{{url(flag_path(flag.name))}}?env={{values["environment"]}}#in-{{values["environment"]}}">Open <bdi>{{flag.name}}</bdi></a></p>
</details>
</li>
% end
</ol>
% end
</section>
% end
