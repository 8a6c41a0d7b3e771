<section>
<h2>Environments</h2>
<p class="hint">Environments available to this project. Disabling one disables its flags there but keeps their strategies.</p>
<ul class="rows">
% for link in links:
<li>
<strong>{{link["name"]}}</strong>
% if link["type"] != link["name"]:
<span class="badge">{{link["type"]}}</span>
% end
<span class="muted">{{plural(link["enabled_toggle_count"], "flag")}} enabled{{"" if link["enabled"] else ", environment disabled"}}</span>
<form method="post" action="{{url('/admin/projects', project['id'], 'environments', link['name'], 'off' if link['visible'] else 'on')}}">
% include("partials/csrf.tpl")
<button role="switch" aria-checked="{{'true' if link['visible'] else 'false'}}" aria-label="Use {{link['name']}}">{{"Enabled" if link["visible"] else "Disabled"}}</button>
</form>
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
<p><a href="{{url('/admin/projects', project['id'], 'actions')}}">Action sets of this project</a></p>
</section>
% end
