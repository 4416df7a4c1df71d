# What a backend accepts from Countersign: sessions, verified without a call, and events that end them.
require_relative 'proofs'
require_relative 'service'
require_relative 'tokens'

# Sessions of this provider's users.
module Sessions
  ENDING = %w[session-revoked account-disabled account-purged].freeze

  @lock = Mutex.new
  @fetching = Mutex.new # over @keys_at; tokens with a known key do not wait for it
  @keys = {}
  @keys_at = -Float::INFINITY # when they were asked for
  @ended_sessions, @ended_users = {}, {} # names and times, the oldest first

  module_function

  # A key of the service. Keys are fetched once, and again only for an unknown one, at most once a minute.
  def service_key(id)
    @fetching.synchronize { fetch unless @keys.key?(id) } unless @keys.key?(id)
    raise Refusal.new(503, 'temporarily_unavailable', "the service's keys are not known yet") if @keys.empty?

    @keys.fetch(id) { raise JWT::DecodeError, 'by an unknown key' }
  end

  def fetch
    time = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    return if time < @keys_at + (@keys.empty? ? 5 : 60)

    @keys_at = time
    @keys = Service.get('/.well-known/jwks.json')['keys'].to_h { |key| [key['kid'], key] }
  end

  # The claims of a token for this provider.
  def signed_by_service(text, type, issuer)
    claims = Tokens.decode(text, type) { |header| service_key(header['kid']) }
    return claims if claims['iss'] == issuer && claims['aud'] == Service::PROVIDER['provider_id']

    raise JWT::DecodeError, 'wrong issuer or audience'
  end

  # The claims of a session's token. They prove nothing until `cnf` was compared with the device.
  def session(token)
    claims = signed_by_service(token, 'at+jwt', Service::URL)
    user_ended = @ended_users.fetch(claims['external_id'], 0)
    if claims['exp'].to_i <= Time.now.to_i || @ended_sessions.key?(claims['sid']) || claims['auth_time'] <= user_ended
      raise JWT::DecodeError, 'the session has ended'
    end

    claims
  rescue JWT::DecodeError => e
    raise Refusal.new(401, 'invalid_token', e.message)
  end

  # The session of a request with `Authorization: DPoP …` and a proof.
  def verify(request)
    scheme, token = request['Authorization'].to_s.split(' ', 2)
    shown = request.header['dpop'] || []
    if scheme.to_s.downcase != 'dpop' || shown.size != 1 || !token
      raise Refusal.new(401, 'invalid_token', 'a DPoP token and one proof are required')
    end

    claims = session(token)
    Proofs.check(shown.first, request, token, claims.dig('cnf', 'jkt'))
    claims
  end

  # A security event (RFC 8417). Sessions that it ends are refused from now on, longer than any token lives.
  def event(body)
    claims = signed_by_service(body, 'secevent+jwt', Service::REALM)
    return claims if (claims['events'].keys.map { |name| name.split('/').last } & ENDING).empty?

    subject = claims['sub_id']
    ended, whose = @ended_users, subject['sub']
    ended, whose = @ended_sessions, subject['session']['id'] if subject.key?('session')
    raise JWT::DecodeError, 'the event has an unknown form of subject' unless whose.is_a?(String)

    @lock.synchronize do
      Tokens.forget(ended, 600)
      ended[whose] = [claims['toe'], ended.fetch(whose, 0)].max
    end
    claims
  rescue JWT::DecodeError => e
    raise Refusal.new(400, 'invalid_request', e.message)
  end
end
