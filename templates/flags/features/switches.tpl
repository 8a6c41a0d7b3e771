<div class="switches">
% for environment in feature["environments"]:
% is_on = environment["enabled"]
<span><span class="muted">{{environment["name"]}}</span>
% if can_edit:
<button class="switch" role="switch" aria-checked="{{'true' if is_on else 'false'}}" aria-label="{{feature['name']}} in {{environment['name']}}" formaction="{{url('/admin/features', feature['name'], 'environments', environment['name'], 'off' if is_on else 'on')}}">{{"on" if is_on else "off"}}</button>
% else:
<strong>{{"on" if is_on else "off"}}</strong>
% end
</span>
% end
</div>
