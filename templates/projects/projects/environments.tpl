<section>
<h2>Environments</h2>
<p class="hint">Environments available to this project. Disabling one disables its flags there but keeps their strategies.</p>
<ul class="rows">
% for link in links:
<li>
<strong>{{link["name"]}}</strong>
% if link["type"] != link["name"]:
<span class="tag">{{link["type"]}}</span>
% end
<span class="muted">{{plural(link["enabled_toggle_count"], "flag")}} enabled{{"" if link["enabled"] else ", environment disabled"}}</span>
% include("partials/switch.tpl", place=("/admin/projects", project["id"], "environments", link["name"]), is_on=link["visible"], name="Use " + link["name"], words=("Enabled", "Disabled"))
% if link["visible"]:
<a href="{{url('/admin/projects', project['id'], 'environments', link['name'], 'default-strategy')}}">Default strategy<span class="hidden"> in {{link["name"]}}</span></a>
% end
</li>
% end
</ul>
</section>
% if is_admin:
<section>
<h2>Action sets</h2>
<p><a href="{{url('/admin/automation')}}?project={{project['id']}}">Automation of this project</a></p>
</section>
% end
