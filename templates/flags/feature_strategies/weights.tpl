% if values:
<figure class="weights">
% if values["parts"]:
<svg viewBox="0 0 1000 24" preserveAspectRatio="none" role="img" aria-label="Weights: {{values['label']}}">
% for part in values["parts"]:
<rect class="v{{part['color']}}" x="{{part['x']}}" y="0" width="{{part['width']}}" height="24"></rect>
% end
</svg>
% end
<figcaption>{{values["label"]}}</figcaption>
</figure>
<p class="actions"><button class="quiet without-script" id="update-weights" name="do" value="weights" formaction="{{action}}#variants" formnovalidate data-swap="editor">Update weights</button></p>
% end
