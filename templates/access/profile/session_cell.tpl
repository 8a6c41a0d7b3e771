<button class="quiet" name="session" value="{{row["id"]}}">Sign out<span class="hidden"> {{"this session" if row["is_current"] else row["device"]}}</span></button>
