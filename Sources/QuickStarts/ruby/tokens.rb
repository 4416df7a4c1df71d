# The verification of tokens, and the state that is kept of them.
require 'jwt'

# Signed tokens.
module Tokens
  ALGORITHMS = { 'RSA' => 'RS256', 'P-256' => 'ES256', 'P-384' => 'ES384' }.freeze

  module_function

  # The claims of a JWS of this type that was signed by the JWK which the block finds for its header.
  def decode(text, type)
    header = JWT.decode(text, nil, false).last
    raise JWT::DecodeError, "no #{type}" if header['typ'] != type || header.key?('crit')

    jwk = yield header
    algorithm = ALGORITHMS[jwk['crv'] || jwk['kty']]
    raise JWT::DecodeError, 'unsupported kind of key' unless algorithm

    JWT.decode(text, JWT::JWK.import(jwk.transform_keys(&:to_sym)).keypair, true,
               algorithm: algorithm, verify_expiration: false, verify_not_before: false).first
  end

  # Deletes entries older than `life` seconds, and yields each name.
  def forget(memory, life)
    while memory.any? && memory.first.last < Time.now.to_f - life
      name = memory.shift.first
      yield name if block_given?
    end
  end
end
