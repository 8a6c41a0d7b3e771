% rebase("layout.tpl", title=title, live=False)
<h1>Token <bdi>{{token["description"]}}</bdi> created</h1>
<p class="notice">Copy it now: it is shown this once and never again.</p>
<div class="field">
<label for="secret">Token</label>
% include("partials/copy.tpl", id="secret", value=secret, label="Token")
</div>
<p class="actions"><a class="button" href="{{url(back)}}">Back</a></p>
