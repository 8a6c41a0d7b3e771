% if signal["sent_by"]:
<span class="tag">sent by <bdi>{{signal["sent_by"]}}</bdi></span>
% else:
<span class="tag"><bdi>{{signal["token_name"] or "(deleted token)"}}</bdi></span>
% end
