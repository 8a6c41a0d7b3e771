% rebase("layout.tpl", title=title, live=False)
<h1><bdi>{{title}}</bdi></h1>
<p class="hint">{{provider.description}} <a href="{{url('/docs/guide/integrations')}}">Guide to integrations</a></p>
% if provider.deprecated:
<p class="hint">{{provider.deprecated}}</p>
% end
% if obstacle:
<p class="notice">{{obstacle}}</p>
% end
% if integration and integration["disabled_reason"]:
<p class="notice">{{integration["disabled_reason"]}}</p>
% end
% if test:
<p class="notice" role="status">{{"The test arrived." if test["state"] == "success" else "The test failed."}} <bdi>{{test["stateDetails"]}}</bdi></p>
% end
<form method="post" action="{{url('/admin/integrations', integration['id']) if integration else url('/admin/integrations/new', provider.name)}}">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=fields)
% for group in groups:
% if group.is_folded:
<details {{"open" if group.chosen_count else ""}}>
<summary>{{group.label}} <span class="muted">{{group.chosen_count}} of {{len(group.fields)}}</span></summary>
% end
<fieldset id="{{group.element_id}}">
<legend class="{{'hidden' if group.is_folded else ''}}">{{group.label}}</legend>
% if group.hint:
<p class="hint">{{group.hint}}</p>
% end
% include("partials/form_fields.tpl", fields=group.fields)
</fieldset>
% if group.is_folded:
</details>
% end
% end
<div class="check">
<input type="checkbox" id="enabled" name="enabled" value="on" {{"checked" if is_enabled else ""}}>
<label for="enabled">Enabled</label>
</div>
<p class="actions save">
<button>Save integration</button>
<button class="quiet" name="do" value="preview">Preview</button>
<a href="{{url('/admin/integrations')}}">Cancel</a>
</p>
</form>
% if preview:
<section id="preview">
<h2>Preview</h2>
<p><bdi>{{preview["sentence"]}}</bdi></p>
% if preview["body"]:
<pre tabindex="0"><code>{{preview["body"]}}</code></pre>
% end
</section>
% end
% if integration:
<form method="post" action="{{url('/admin/integrations', integration['id'], 'test')}}">
% include("partials/csrf.tpl")
<button class="quiet">Send a test</button>
</form>
% if deliveries:
<section id="deliveries">
<h2>Last deliveries</h2>
<ul class="rows">
% for delivery in deliveries:
<li>
% include("partials/time.tpl", at=delivery["at"])
<strong>{{delivery["label"]}}</strong> <span class="tag">{{delivery["state"]}}</span>
<span class="muted">{{plural(delivery["attempts"], "attempt")}}</span>
% if delivery["lastError"]:
<bdi>{{delivery["lastError"]}}</bdi>
% end
% if delivery["state"] != "sent" and integration["enabled"]:
<form method="post" action="{{url('/admin/integrations', integration['id'], 'deliveries', delivery['id'], 'retry')}}">
% include("partials/csrf.tpl")
<button class="quiet">Retry<span class="hidden"> {{delivery["label"]}} {{delivery["id"]}}</span></button>
</form>
% end
</li>
% end
</ul>
</section>
% end
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/integrations', integration['id'], 'delete')}}">Delete this integration …</a></p>
</section>
% end
