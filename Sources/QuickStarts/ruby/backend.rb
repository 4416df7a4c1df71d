# A backend with its own users, whose sessions Countersign keeps: a small HTTP server on loopback.
require 'webrick'
require_relative 'service'
require_relative 'sessions'

# Responds to every request.
class Backend < WEBrick::HTTPServlet::AbstractServlet
  ACCOUNTS = { 'ada' => 'correct horse', 'ben' => 'battery staple' }.freeze # in place of your table of hashes

  def service(request, response)
    response.status, value = act(request)
  rescue Refusal => e
    response.status = e.status
    response['WWW-Authenticate'] = %(DPoP error="#{e.code}") if e.status == 401
    value = { error: e.code, error_description: e.message }
  rescue JSON::ParserError, KeyError, TypeError, NoMethodError
    response.status = 400
    value = { error: 'invalid_request', error_description: 'the body is malformed' }
  ensure
    response['Content-Type'] = 'application/json'
    response.body = JSON.generate(value) if value
  end

  private

  # Handles the request: a status, and a value for the response.
  def act(request)
    case "#{request.request_method} #{request.path}"
    when 'POST /login' then [200, log_in(**JSON.parse(body(request), symbolize_names: true))]
    when 'GET /me' then [200, Sessions.verify(request)]
    when 'GET /me/user' then [200, Service.user(Sessions.verify(request)['external_id'])]
    when 'DELETE /me/sessions' then [204, Service.end_sessions(Sessions.verify(request)['external_id'])]
    when 'POST /events' then [202, Sessions.event(body(request)) && nil]
    when 'POST /doctor' then [200, Service.doctor(JSON.parse(body(request)).fetch('identity_token'))]
    else raise Refusal.new(404, 'not_found', 'unknown call')
    end
  end

  def log_in(user:, password:, nonce:)
    unless ACCOUNTS.key?(user) && OpenSSL.secure_compare(ACCOUNTS[user], password)
      raise Refusal.new(403, 'access_denied', 'user or password is wrong')
    end

    { identity_token: Service.identity_token(user, nonce) }
  end

  def body(request)
    raise Refusal.new(413, 'too_large', '64 KiB at most') if request['Content-Length'].to_i > 65_536

    request.body.to_s
  end
end

begin
  Service.receive_events(ENV['EVENTS']) if ENV['EVENTS']
rescue Refusal => e
  abort "EVENTS was not registered (a URL on loopback needs countersign serve --loopback-urls): #{e.message}"
end
address = { BindAddress: '127.0.0.1', Port: ENV.fetch('PORT', '8460').to_i }
log = { Logger: WEBrick::Log.new($stderr, WEBrick::Log::WARN), AccessLog: [] }
at_once = ->(socket) { socket.setsockopt(:TCP, :NODELAY, 1) } # otherwise each response waits for an acknowledgement
server = WEBrick::HTTPServer.new(**address, **log, AcceptCallback: at_once)
server.mount('/', Backend)
%w[INT TERM].each { |name| trap(name) { server.shutdown } }
puts "ready: #{Proofs::ORIGIN}"
server.start
