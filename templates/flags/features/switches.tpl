<div class="switches">
% for environment in feature["environments"]:
<span><span class="muted">{{environment["name"]}}</span>
% if may_edit:
<button class="switch" role="switch" aria-checked="{{'true' if environment['enabled'] else 'false'}}" aria-label="{{feature['name']}} in {{environment['name']}}" formaction="{{url('/admin/features/%s/environments/%s/%s' % (feature['name'], environment['name'], 'off' if environment['enabled'] else 'on'))}}">{{"on" if environment["enabled"] else "off"}}</button>
% else:
<strong>{{"on" if environment["enabled"] else "off"}}</strong>
% end
</span>
% end
</div>
