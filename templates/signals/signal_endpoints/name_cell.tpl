% if not row["tokens"]:
<a href="{{url('/admin/signals', row['id'], 'tokens')}}">Create a token<span class="hidden"> for {{row["name"]}}</span></a>
% end
