# The proof that a device has the key that its token is bound to.
require_relative 'service'
require_relative 'tokens'

# Proofs by DPoP (RFC 9449).
module Proofs
  ORIGIN = ENV.fetch('ORIGIN', 'http://127.0.0.1:8460') # this backend, as devices see it
  MEMBERS = { 'EC' => %w[crv kty x y], 'RSA' => %w[e kty n] }.freeze # what RFC 7638 hashes

  @lock = Mutex.new
  @used = {} # names and times, the oldest first
  @counts = Hash.new(0) # how many of them each device's key has made

  module_function

  # Accepts a proof for this request and token, by the key of this thumbprint, once.
  def check(text, request, token, thumbprint)
    claims = Tokens.decode(text, 'dpop+jwt') do |header|
      key = header['jwk'].slice(*MEMBERS.fetch(header['jwk']['kty'])).sort.to_h
      raise JWT::DecodeError, "by another key than the token's" if Service.digest(JSON.generate(key)) != thumbprint

      key
    end
    is_good = claims['htm'] == request.request_method && claims['htu'] == ORIGIN + request.path &&
              claims['ath'] == Service.digest(token) &&
              (Time.now.to_f - claims['iat']).abs <= 60 && claims['jti'].is_a?(String)
    raise JWT::DecodeError, 'for another request or token, or over a minute old' unless is_good

    once(thumbprint, Service.digest(claims['jti']))
  rescue JWT::DecodeError, JWT::JWKError, OpenSSL::OpenSSLError, NoMethodError, KeyError, TypeError, ArgumentError => e
    raise Refusal.new(401, 'invalid_dpop_proof', e.message)
  end

  # Remembers a proof of this key.
  def once(*name)
    @lock.synchronize do
      Tokens.forget(@used, 120) { |key, _| @counts.delete(key) if (@counts[key] -= 1).zero? }
      if @used.key?(name) || @counts[name.first] >= 1_000 || @used.size >= 100_000
        raise JWT::DecodeError, 'used before, or too many in two minutes'
      end

      @used[name] = Time.now.to_f
      @counts[name.first] += 1
    end
  end
end
