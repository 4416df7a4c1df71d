# A backend's calls to Countersign: identity tokens, and queries about users and tokens.
require 'digest'
require 'erb'
require 'json'
require 'jwt'
require 'net/http'
require 'securerandom'

# An error response.
class Refusal < StandardError
  attr_reader :status, :code

  def initialize(status, code, reason)
    super(reason)
    @status = status
    @code = code
  end
end

# The service, as this provider sees it.
module Service
  URL = ENV.fetch('SERVICE', 'https://127.0.0.1:8440') # its public URL, the issuer of session tokens
  REALM = ENV.fetch('REALM', 'localhost') # its name, the issuer of security events
  CA = ENV.fetch('CA', 'Keys/ca.pem')
  PROVIDER = JSON.parse(File.read(ENV.fetch('PROVIDER', 'provider.json'))) # from `provider add --json`
  KEY = OpenSSL::PKey.read(File.read(ENV.fetch('KEY', 'provider.key')))
  ALGORITHM = KEY.is_a?(OpenSSL::PKey::RSA) ? 'RS256' : 'ES256'

  module_function

  # SHA-256 in base64url, as in JOSE.
  def digest(data)
    Base64.urlsafe_encode64(Digest::SHA256.digest(data), padding: false)
  end

  # A token of this provider, for `life` seconds.
  def sign(content_type, life, claims)
    now = Time.now.to_i
    claims = claims.merge(iss: PROVIDER['provider_id'], aud: REALM, iat: now, exp: now + life)
    JWT.encode(claims, KEY, ALGORITHM, typ: 'JWT', cty: content_type, kid: PROVIDER['key_id'])
  end

  def send_request(request)
    uri = URI(URL)
    options = { use_ssl: true, ca_file: CA, open_timeout: 5, read_timeout: 5 }
    answer = Net::HTTP.start(uri.host, uri.port, nil, **options) { |connection| connection.request(request) }
    raise Refusal.new(502, 'service_refused', answer.body.to_s) unless answer.is_a?(Net::HTTPSuccess)

    answer.body.to_s.empty? ? nil : JSON.parse(answer.body)
  rescue SystemCallError, IOError, Timeout::Error, OpenSSL::SSL::SSLError => e
    raise Refusal.new(503, 'temporarily_unavailable', e.message)
  end

  # A public document of the service.
  def get(path)
    send_request(Net::HTTP::Get.new(path))
  end

  # A call with a token for this one request.
  def call(method, path, value = nil)
    request = Net::HTTP.const_get(method.capitalize).new(path, 'Content-Type' => 'application/json')
    request.body = value ? JSON.generate(value) : ''
    token = sign('layer-provider;v=1', 60, jti: SecureRandom.uuid, htm: method, htu: URL + path,
                                           body_sha256: digest(request.body))
    request['Authorization'] = "Bearer #{token}"
    send_request(request)
  end

  # States that this user has just logged in on the device with this nonce. Check that before you call it.
  def identity_token(user, nonce)
    sign('layer-eit;v=1', 300, sub: user, nce: nonce)
  end

  # The user's level, age flags and ban, by the service.
  def user(external_id)
    call('GET', "/provider/users/#{ERB::Util.url_encode(external_id)}")
  end

  # Signs a user out on every device.
  def end_sessions(external_id)
    call('DELETE', "/provider/users/#{ERB::Util.url_encode(external_id)}/sessions")
  end

  # Every defect that the service finds in an identity token. It does not spend the nonce.
  def doctor(token)
    call('POST', '/provider/token-check', identity_token: token)
  end

  # Sets the URL to which the service sends security events.
  def receive_events(url)
    call('PUT', '/provider/webhook', url: url)
  end
end
