# The Ruby SDK that Debian packages, driven by lines of JSON on stdin; each is answered by one line on
# stdout.
require "json"
require "logger"
require "unleash"

url, token, directory = ARGV
client = Unleash::Client.new(
  url: "#{url}/api",
  app_name: "ruby-app",
  instance_id: "ruby-1",
  refresh_interval: 1,
  metrics_interval: 1,
  custom_http_headers: { "Authorization" => token },
  backup_file: "#{directory}/flags.json",
  logger: Logger.new($stderr)
)

$stdin.each_line do |line|
  command = JSON.parse(line)
  context = Unleash::Context.new(command.fetch("context", {}).transform_keys(&:to_sym))
  answer = case command["do"]
           when "on" then client.is_enabled?(command["flag"], context)
           when "variant" then client.get_variant(command["flag"], context).name
           end
  $stdout.puts(answer.to_json)
  $stdout.flush
end
