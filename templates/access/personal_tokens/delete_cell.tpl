<button class="quiet" name="token" value="{{row["id"]}}">Delete<span class="hidden"> token {{row["description"]}}</span></button>
