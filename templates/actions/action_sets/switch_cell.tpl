<form method="post" action="{{url('/admin/projects', row['project'], 'actions', row['id'], 'off' if row['enabled'] else 'on')}}">
% include("partials/csrf.tpl")
<button role="switch" aria-checked="{{'true' if row['enabled'] else 'false'}}" aria-label="Action set {{row['name']}} in {{row['project']}}">{{"on" if row["enabled"] else "off"}}</button>
</form>
% if not row["armed"]:
<form method="post" action="{{url('/admin/projects', row['project'], 'actions', row['id'], 'arm')}}">
% include("partials/csrf.tpl")
<span class="badge wrong">Has run once</span>
<button class="quiet">Re-enable<span class="hidden"> {{row["name"]}} in {{row["project"]}}</span></button>
</form>
% end
