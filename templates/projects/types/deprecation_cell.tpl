% if row["name"] != "default":
<form method="post" action="{{url('/admin/types/strategies', row['name'], 'on' if row['deprecated'] else 'off')}}">
% include("partials/csrf.tpl")
<button class="quiet">{{"Reactivate" if row["deprecated"] else "Deprecate"}}<span class="hidden"> {{row["name"]}}</span></button>
</form>
% end
