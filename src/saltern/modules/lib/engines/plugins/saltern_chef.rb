# frozen_string_literal: true

# Loaded into Chef by its configuration: an event handler that reports each resource when Chef is done with it.
require_relative "saltern_report"
require "chef/event_dispatch/base"

class SalternChef < Chef::EventDispatch::Base
  def initialize
    super
    SalternReport.stream = $stderr # on the other one Chef writes a line bit by bit
    @open = [] # resources at work; one that is made of others stands below them
  end

  def converge_start(run_context)
    refs = run_context.resource_collection.map(&:to_s)
    SalternReport.report("plan", resources: refs, why_run: Chef::Config[:why_run] ? true : false)
  end

  def converge_complete
    SalternReport.report("end")
  end

  def resource_action_start(resource, action, notification_type = nil, notifier = nil)
    ref = resource.to_s
    SalternReport.report("begin", resource: ref, action: action) if @open.empty?
    @open.push(
      resource: ref, type: resource.declared_type || resource.resource_name, name: resource.name, action: action.to_s,
      cookbook: resource.cookbook_name, recipe: resource.recipe_name, line: resource.source_line,
      notified: notification_type, notifier: notifier&.to_s, started: Time.now.to_f, word: "ok", updates: [], sub: []
    )
  end

  def resource_skipped(_resource, _action, conditional)
    mine(word: "skipped", comment: "skipped due to #{conditional.short_description}")
  end

  def resource_update_applied(_resource, _action, update)
    @open.last[:updates].concat(Array(update).flatten.map(&:to_s)) unless @open.empty?
  end

  def resource_updated(_resource, _action)
    mine(word: "changed")
  end

  def resource_bypassed(_resource, _action, _provider)
    mine(comment: "it cannot say what it would do")
  end

  def resource_failed_retriable(_resource, _action, _left, _exception)
    mine(retries: (@open.last&.fetch(:retries, 0) || 0) + 1)
  end

  def resource_failed(resource, _action, exception)
    mine(word: "failed", comment: exception.message, error: exception.class.name, ignored: resource.ignore_failure)
  end

  def resource_completed(_resource)
    done = @open.pop
    return if done.nil?

    done[:seconds] = Time.now.to_f - done[:started]
    @open.empty? ? SalternReport.report("resource", **done) : @open.last[:sub].push(done)
  end

  private

  def mine(**values)
    @open.last&.merge!(values)
  end
end
